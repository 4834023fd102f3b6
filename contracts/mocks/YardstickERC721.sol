// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";

/// @title YardstickERC721
/// @notice An ERC721 collection built from OpenZeppelin's parts alone, as a reference for the gas table and the
/// differential test. The owner mints. It has a maximum supply, base and collection URI, a royalty, and burning.
contract YardstickERC721 is ERC721, ERC2981, Ownable2Step {
    uint256 public immutable maxSupply;
    uint256 public totalMinted;
    string public contractURI;
    string private _base;

    error MaxSupplyExceeded();

    constructor(
        string memory name_,
        string memory symbol_,
        string memory base,
        string memory contractURI_,
        uint256 maxSupply_,
        address royaltyRecipient,
        uint96 royaltyBasisPoints
    ) ERC721(name_, symbol_) Ownable(msg.sender) {
        _base = base;
        contractURI = contractURI_;
        maxSupply = maxSupply_;
        if (royaltyRecipient != address(0)) _setDefaultRoyalty(royaltyRecipient, royaltyBasisPoints);
    }

    function mint(address to) external onlyOwner {
        if (maxSupply != 0 && totalMinted >= maxSupply) revert MaxSupplyExceeded();
        _safeMint(to, ++totalMinted);
    }

    function burn(uint256 id) external {
        _update(address(0), id, msg.sender);
    }

    function supportsInterface(bytes4 interfaceId) public view override(ERC721, ERC2981) returns (bool) {
        return super.supportsInterface(interfaceId);
    }

    function _baseURI() internal view override returns (string memory) {
        return _base;
    }
}
