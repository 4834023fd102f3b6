// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title HostileERC721
/// @notice A contract of an attacker. It emits any events, and answers `ownerOf` as a test has chosen.
contract HostileERC721 {
    enum Mode {
        Honest,
        ReturnMegabytes,
        BurnAllGas,
        RevertWithMegabytes
    }

    Mode private _mode;
    mapping(uint256 tokenId => address) private _claimed;

    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

    error Refused(bytes reason);

    /// @notice Answers `ownerOf`, which returns raw bytes here.
    fallback(bytes calldata data) external returns (bytes memory) {
        return _answer(data);
    }

    function program(Mode mode) external {
        _mode = mode;
    }

    /// @notice From now on the contract names this owner, without any event.
    function claim(uint256 tokenId, address owner) external {
        _claimed[tokenId] = owner;
    }

    /// @notice Emits transfers of consecutive ids. Nothing else changes.
    function spam(address from, address to, uint256 firstId, uint256 count) external {
        for (uint256 index = 0; index < count; ++index) emit Transfer(from, to, firstId + index);
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd;
    }

    function _answer(bytes calldata data) private view returns (bytes memory) {
        if (_mode == Mode.ReturnMegabytes) return new bytes(2_800_000);
        if (_mode == Mode.RevertWithMegabytes) revert Refused(new bytes(2_800_000));
        uint256 rounds;
        while (_mode == Mode.BurnAllGas) ++rounds;
        return abi.encode(_claimed[uint256(bytes32(data[4:]))]);
    }
}
