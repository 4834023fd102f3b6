// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// @title MintableERC721
/// @notice A contract of OpenZeppelin's Wizard with roles, whose mint can do something else than it says, for tests of
/// mints into adopted contracts.
contract MintableERC721 is ERC721, AccessControl, Ownable {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");
    enum Odd {
        No,
        MakesNone,
        MakesTwo,
        OtherReceiver,
        ReadsMore,
        OtherId,
        MintsElsewhere,
        Floods
    }

    Odd public odd = Odd.No;
    uint256 private _further = 2 ** 200;

    /// @notice In which contract a mint makes a further token.
    MintableERC721 public elsewhere;

    error TooMuchData(uint256 length);

    constructor(address admin) ERC721("Mintable", "MINT") Ownable(admin) {
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
    }

    function setOdd(Odd what) external onlyOwner {
        odd = what;
    }

    function mintElsewhere(MintableERC721 victim) external payable onlyOwner {
        odd = Odd.MintsElsewhere;
        elsewhere = victim;
    }

    function safeMint(address to, uint256 id) external onlyRole(MINTER_ROLE) {
        if (odd == Odd.ReadsMore && msg.data.length > 68) revert TooMuchData(msg.data.length);
        if (odd == Odd.MakesNone) return;
        _safeMint(odd == Odd.OtherReceiver ? owner() : to, odd == Odd.OtherId ? id + 1 : id);
        if (odd == Odd.MintsElsewhere) elsewhere.buy{value: 1}(to, ++_further);
        for (uint256 i = 0; odd == Odd.Floods && i < 50; ++i) emit Transfer(address(0), to, id);
        if (odd != Odd.MakesTwo) return;
        ++_further;
        _safeMint(to, _further);
    }

    /// @notice The same, with an id that nobody chooses. The service's own collections have a function of this name.
    function mint(address to) external onlyRole(MINTER_ROLE) {
        if (odd == Odd.ReadsMore && msg.data.length > 36) revert TooMuchData(msg.data.length);
        for (uint256 left = odd == Odd.MakesTwo ? 2 : 1; left > 0; --left) {
            ++_further;
            _safeMint(to, _further);
        }
    }

    /// @notice No mint, under a name that an operator may take for one.
    function giveOwnership(address to) external {
        _transferOwnership(to);
    }

    /// @notice A mint that costs coins.
    function buy(address to, uint256 id) external payable {
        require(msg.value > 0, "no coins");
        _mint(to, id);
    }

    function supportsInterface(bytes4 id) public view override(ERC721, AccessControl) returns (bool) {
        return super.supportsInterface(id);
    }
}
