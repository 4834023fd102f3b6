// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICollection} from "./ICollection.sol";

/// @title IERC1155Collection
/// @notice A collection of tokens with copies. An id is created once, together with its first copies; more copies can
/// be minted later.
/// @dev The supply of an id is at most 2^128 - 1 copies.
interface IERC1155Collection is ICollection {
    /// @notice Thrown when an id is created a second time, even if all its copies were burnt.
    /// @param id The token id.
    error ERC1155AlreadyCreated(uint256 id);

    /// @notice Thrown when copies are minted of, or a URI is set for, an id that was not created.
    /// @param id The token id.
    error ERC1155NotCreated(uint256 id);

    /// @notice Thrown when a mint would raise the supply of an id above 2^128 - 1.
    /// @param id The token id.
    /// @param amount The number of copies to mint.
    /// @param available The number of copies that can still be minted.
    error ERC1155ExceededMaxSupply(uint256 id, uint256 amount, uint256 available);

    /// @notice Creates an id and mints its first copies. Minters and the service can call this. A receiver with code
    /// must accept the copies.
    /// @param to The receiver.
    /// @param id The token id.
    /// @param amount The number of copies; zero is allowed.
    /// @param tokenURI The id's own URI; if empty, the id follows the collection's template.
    function create(address to, uint256 id, uint256 amount, string calldata tokenURI) external;

    /// @notice Mints more copies of an existing id. Minters and the service can call this. A receiver with code must
    /// accept the copies.
    /// @param to The receiver.
    /// @param id The token id.
    /// @param amount The number of copies.
    function mint(address to, uint256 id, uint256 amount) external;

    /// @notice Transfers copies with a signature of the wallet that holds them. Only the relay can call this. It
    /// appends the request number to the calldata; the signature covers that number. A receiver with code must accept
    /// the copies.
    /// @param from The wallet that holds the copies and signed.
    /// @param to The receiver.
    /// @param id The token id.
    /// @param amount The number of copies.
    /// @param r The first half of the EIP-712 signature of `TransferAuthorization`.
    /// @param vs The second half, in the compact form of ERC-2098.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 id,
        uint256 amount,
        bytes32 r,
        bytes32 vs
    ) external;

    /// @notice Burns copies with a signature of the wallet that holds them. Only the relay can call this. It appends
    /// the request number to the calldata; the signature covers that number. Reverts unless the wallet itself holds the
    /// copies: an approval is not enough.
    /// @param from The wallet that holds the copies and signed.
    /// @param id The token id.
    /// @param amount The number of copies.
    /// @param r The first half of the EIP-712 signature of `BurnAuthorization`.
    /// @param vs The second half, in the compact form of ERC-2098.
    function burnWithAuthorization(address from, uint256 id, uint256 amount, bytes32 r, bytes32 vs) external;

    /// @notice Burns copies. Their holder and the holder's approved operators can call this.
    /// @param from The holder.
    /// @param id The token id.
    /// @param amount The number of copies.
    function burn(address from, uint256 id, uint256 amount) external;

    /// @notice Burns copies of several ids. Their holder and the holder's approved operators can call this.
    /// @param from The holder.
    /// @param ids The token ids.
    /// @param amounts The number of copies of each id.
    function burnBatch(address from, uint256[] calldata ids, uint256[] calldata amounts) external;

    /// @notice Gives one id its own URI. Only the owner can call this.
    /// @param id The token id.
    /// @param tokenURI The new URI; if empty, the id follows the collection's template again.
    function setTokenURI(uint256 id, string calldata tokenURI) external;

    /// @notice Returns the collection's name.
    function name() external view returns (string memory);

    /// @notice Returns the collection's symbol.
    function symbol() external view returns (string memory);

    /// @notice Returns the number of copies that exist: minted and not burnt.
    /// @param id The token id.
    function totalSupply(uint256 id) external view returns (uint256);

    /// @notice Tells whether the id was created.
    /// @param id The token id.
    function exists(uint256 id) external view returns (bool);
}
